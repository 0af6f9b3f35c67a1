def f(x):
    x = x[1:] + x[:1]
    x = 'd' + x
    if 'e' in x:
        x = 'd' + x
    return x[:-1]
