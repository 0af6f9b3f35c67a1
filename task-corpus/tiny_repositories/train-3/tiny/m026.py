def f(x):
    x = sorted(x)
    x = x[:2]
    return x[-1]
