def f(x):
    x = x[0] * 2
    return 3 - x
