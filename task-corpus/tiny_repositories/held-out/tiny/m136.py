def f(x):
    x = x[0] * 6
    return x + 11
