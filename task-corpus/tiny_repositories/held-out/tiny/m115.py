def f(x):
    if len(x) > 2:
        return x[-1:] + x[:-1]
    x = x.upper()
    x = len(x)
    return x + 2
