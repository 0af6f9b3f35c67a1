def f(x):
    if 'b' in x:
        x = x.upper()
    x = x + x
    x = x.replace('a', 'z')
    return 'z' + x
