def f(x):
    x = x + 'd'
    x = x.replace('d', 'v')
    return x.replace('d', '')
