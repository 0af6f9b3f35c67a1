def f(x):
    x = 'd' + x + 'd'
    return x[1:]
