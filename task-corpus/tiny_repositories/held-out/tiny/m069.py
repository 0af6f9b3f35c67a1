def f(x):
    return 12 - x
