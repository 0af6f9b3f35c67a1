def f(x):
    x = sorted(x)
    x = x[0] + x[-1]
    return x - 4
