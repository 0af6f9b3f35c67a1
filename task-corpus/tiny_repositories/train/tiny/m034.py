def f(x):
    x = max(x) - min(x)
    return x + 4
