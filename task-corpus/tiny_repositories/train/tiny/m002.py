def f(x):
    x = x + [6]
    return sorted(x)
