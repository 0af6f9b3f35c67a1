def f(x):
    x = 'z' + x
    return x[::2]
