def f(x):
    x = sorted(x)
    return ''.join(x)
