def f(x):
    x = x.replace('b', 'x')
    return x[::2]
