def f(x):
    if len(x) > 2:
        x = x[::-1]
    return x.replace('d', 'v')
