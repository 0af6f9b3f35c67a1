def f(x):
    x = max(x, 5)
    return x + 6
