def f(x):
    x = x * 7
    x = max(x, 7)
    return x * 3
