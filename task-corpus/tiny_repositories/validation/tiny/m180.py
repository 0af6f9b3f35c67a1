def f(x):
    x = x + [7]
    x = x[::-1]
    return x[:-1]
