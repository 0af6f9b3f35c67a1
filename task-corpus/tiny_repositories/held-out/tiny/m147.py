def f(x):
    x = x + x
    x = x.replace('a', 'x')
    return x + x
