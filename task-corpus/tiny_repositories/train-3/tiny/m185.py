def f(x):
    x = x + [8]
    x = sorted(x)
    return [9] + x
