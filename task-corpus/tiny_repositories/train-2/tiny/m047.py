def f(x):
    x = max(x, 6)
    return x * 7
