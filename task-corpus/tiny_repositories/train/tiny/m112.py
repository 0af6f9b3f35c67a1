def f(x):
    x = 11 - x
    x = min(x, 10)
    return 8 - x
