def f(x):
    return 5 - x
