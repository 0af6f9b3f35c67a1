def f(x):
    if x[0] == 'c':
        x = x[::2]
    x = sorted(x)
    return ''.join(x)
