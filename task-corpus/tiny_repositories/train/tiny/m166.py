def f(x):
    x = x[::-1]
    x = x + [4]
    return x[:-1]
