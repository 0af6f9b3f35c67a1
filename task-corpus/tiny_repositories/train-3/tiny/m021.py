def f(x):
    x = x[1:]
    x = x[:2]
    return list(x)
