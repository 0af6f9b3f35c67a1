def f(x):
    x = 'e' + x
    return x[-1:] + x[:-1]
