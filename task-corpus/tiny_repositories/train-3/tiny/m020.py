def f(x):
    x = x[-1:] + x[:-1]
    x = x + [0]
    return x[1:]
