def f(x):
    x = x + 1
    return 7 - x
