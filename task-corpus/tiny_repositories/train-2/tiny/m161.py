def f(x):
    x = x + 3
    return x - 4
