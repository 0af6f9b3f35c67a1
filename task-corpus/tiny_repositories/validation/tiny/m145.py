def f(x):
    x = x[1:]
    x = x + x
    return x[:2]
