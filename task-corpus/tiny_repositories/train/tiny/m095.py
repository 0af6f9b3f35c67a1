def f(x):
    x = x // 4
    x = x * 4 + 3
    return x // 4
