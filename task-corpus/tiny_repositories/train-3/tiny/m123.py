def f(x):
    x = x.replace('d', 'x')
    x = x + x
    return x[-1:] + x[:-1]
