def f(x):
    x = sorted(x)
    return sorted(x)
