def f(x):
    x = x.upper()
    x = list(x)
    x = x[1:] + x[:1]
    return x[0]
