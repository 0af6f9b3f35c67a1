def f(x):
    x = x[::2]
    x = x[0]
    return x - 6
