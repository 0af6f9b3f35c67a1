def f(x):
    return 6 - x
