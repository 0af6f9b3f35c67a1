def f(x):
    x = 'z' + x
    x = x + 'y'
    return x[:-1]
