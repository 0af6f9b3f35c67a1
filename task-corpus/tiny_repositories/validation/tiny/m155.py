def f(x):
    x = x.upper()
    if 'b' in x:
        x = x[1:]
    x = x.replace('c', 'v')
    return x[:2]
