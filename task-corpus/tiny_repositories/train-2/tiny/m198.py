def f(x):
    x = x[0] + x[-1]
    return x + 12
