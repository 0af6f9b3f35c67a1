def f(x):
    x = x - 3
    return 12 - x
