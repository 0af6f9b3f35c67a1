def f(x):
    if 'd' in x:
        x = x[-1:] + x[:-1]
    x = x[:-1]
    return list(x)
