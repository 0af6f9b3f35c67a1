def f(x):
    x = x + [4]
    x = sorted(x)
    return x[0] * 7
