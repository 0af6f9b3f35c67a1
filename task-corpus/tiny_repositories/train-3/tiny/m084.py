def f(x):
    return 9 - x
