def f(x):
    x = x.replace('d', 'z')
    return x[:2]
