def f(x):
    x = sorted(x)
    x = sorted(x)
    return x[:2]
