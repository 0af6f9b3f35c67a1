def f(x):
    x = 'y' + x
    return x[1:] + x[:1]
