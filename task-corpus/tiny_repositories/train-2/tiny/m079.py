def f(x):
    return x[-1:] + x[:-1]
