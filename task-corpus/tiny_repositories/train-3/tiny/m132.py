def f(x):
    x = x + 'e'
    x = x[::2]
    return x[::2]
