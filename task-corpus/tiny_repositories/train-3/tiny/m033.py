def f(x):
    if 'c' in x:
        x = x.upper()
    return 'x' + x
