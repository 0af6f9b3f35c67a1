def f(x):
    x = 'd' + x
    x = 'e' + x
    return x[1:]
