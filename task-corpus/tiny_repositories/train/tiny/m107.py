def f(x):
    x = x.upper()
    x = sorted(x)
    return sorted(x)
