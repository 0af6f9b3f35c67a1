def f(x):
    x = x + 'd'
    return x[1:]
