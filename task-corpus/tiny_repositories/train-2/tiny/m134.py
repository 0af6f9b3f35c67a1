def f(x):
    x = 'c' + x
    return x[:-1]
