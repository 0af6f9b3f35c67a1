def f(x):
    return x.replace('d', 'v')
