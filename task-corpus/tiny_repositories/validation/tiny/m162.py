def f(x):
    x = 'z' + x
    x = x[-1:] + x[:-1]
    x = x + x
    return x[::-1]
