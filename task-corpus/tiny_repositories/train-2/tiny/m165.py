def f(x):
    x = sorted(x)
    x = x + ['c']
    x = x + ['c']
    return ''.join(x)
