def f(x):
    if 'd' in x:
        x = x.upper()
    return 'z' + x
