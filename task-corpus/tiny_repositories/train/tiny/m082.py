def f(x):
    x = x.replace('d', 'x')
    return x + 'y'
