def f(x):
    return list(x)
