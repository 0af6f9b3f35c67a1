def f(x):
    x = [9] + x
    return x[-1:] + x[:-1]
