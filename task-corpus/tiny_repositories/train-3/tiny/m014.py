def f(x):
    x = x.replace('a', 'z')
    return x[:2]
