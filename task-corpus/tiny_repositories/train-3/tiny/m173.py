def f(x):
    return x + 12
