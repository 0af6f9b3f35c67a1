def f(x):
    x = 'x' + x
    return x.replace('b', '')
