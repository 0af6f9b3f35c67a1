def f(x):
    x = x + 5
    return 4 - x
