def f(x):
    x = x[1:]
    x = x.replace('e', 'v')
    return x[:-1]
