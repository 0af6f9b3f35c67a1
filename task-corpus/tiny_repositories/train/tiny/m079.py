def f(x):
    x = x + 6
    return 7 - x
