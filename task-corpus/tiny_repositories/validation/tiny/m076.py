def f(x):
    x = x + [1]
    x = sorted(x)
    return x[1:]
