def f(x):
    x = x.replace('d', 'v')
    return x[::-1]
