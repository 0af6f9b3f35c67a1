def f(x):
    if 'e' in x:
        x = x.replace('d', 'x')
    return x[1:] + x[:1]
