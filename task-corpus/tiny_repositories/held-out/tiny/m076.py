def f(x):
    x = x * 2 + 2
    x = 11 - x
    return x + 6
