def f(x):
    return 11 - x
