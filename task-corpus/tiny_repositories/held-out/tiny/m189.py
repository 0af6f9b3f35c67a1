def f(x):
    x = str(x)
    x = x + 'd'
    return x + 'y'
