def f(x):
    x = 'y' + x
    return x + x
