def f(x):
    x = x.upper()
    x = 'y' + x
    return x + 'd'
