def f(x):
    x = x + 6
    x = x + 11
    return x + 7
