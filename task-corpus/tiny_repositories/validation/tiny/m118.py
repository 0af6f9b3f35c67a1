def f(x):
    x = x + 'c'
    return x[::2]
