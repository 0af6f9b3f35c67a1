def f(x):
    x = 'c' + x
    return x.replace('b', 'y')
