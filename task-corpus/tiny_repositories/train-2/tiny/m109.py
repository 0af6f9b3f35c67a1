def f(x):
    x = x - 6
    x = x * 4
    return x - 4
