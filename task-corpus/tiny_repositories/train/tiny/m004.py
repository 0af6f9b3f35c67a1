def f(x):
    x = 3 - x
    x = x // 4
    return x * 9
