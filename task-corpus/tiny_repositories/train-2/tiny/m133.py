def f(x):
    x = list(x)
    return x[1:] + x[:1]
