def f(x):
    x = x.replace('a', 'x')
    x = sorted(x)
    x = x + ['b']
    return x[:-1]
