def f(x):
    if len(x) > 2:
        return x[1:] + x[:1]
    x = x.replace('a', 'x')
    return 'x' + x
