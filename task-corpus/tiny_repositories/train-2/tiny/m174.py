def f(x):
    x = 9 - x
    x = x * 3 + 4
    return 11 - x
