def f(x):
    return sorted(x)
