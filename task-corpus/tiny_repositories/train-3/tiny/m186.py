def f(x):
    x = max(x)
    return x + 12
