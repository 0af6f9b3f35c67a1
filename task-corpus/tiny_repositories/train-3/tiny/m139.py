def f(x):
    return x.upper()
