def f(x):
    x = x.upper()
    return x[::-1]
