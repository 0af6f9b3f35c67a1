def f(x):
    return x + 11
