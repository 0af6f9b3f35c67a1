def f(x):
    x = x + 11
    x = x % 6
    x = 6 - x
    return x // 2
