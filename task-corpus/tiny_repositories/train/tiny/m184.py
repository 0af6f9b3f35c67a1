def f(x):
    x = x // 4
    return 3 - x
