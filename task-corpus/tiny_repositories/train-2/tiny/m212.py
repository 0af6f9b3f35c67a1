def f(x):
    x = list(x)
    x = x[::-1]
    x = x[:-1]
    return ''.join(x)
