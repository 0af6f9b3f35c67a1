def f(x):
    x = x * 2 + 9
    x = x + 12
    x = x + 8
    return x // 4
