def f(x):
    x = x.replace('e', 'z')
    return x[1:] + x[:1]
