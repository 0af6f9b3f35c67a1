def f(x):
    x = min(x, 10)
    x = x + 11
    return x * 8
