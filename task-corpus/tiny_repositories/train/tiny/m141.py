def f(x):
    x = x.upper()
    if 'c' in x:
        x = 'x' + x
    return x * 3
