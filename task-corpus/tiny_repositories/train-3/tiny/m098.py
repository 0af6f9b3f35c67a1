def f(x):
    if 'c' in x:
        x = x[1:] + x[:1]
    x = x.replace('a', 'z')
    return x[1:]
