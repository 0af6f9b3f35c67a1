def f(x):
    x = x[:2]
    x = x.replace('a', 'y')
    x = list(x)
    return ''.join(x)
