def f(x):
    x = x[::2]
    x = x[1:]
    return x + 'x'
