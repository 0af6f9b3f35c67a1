def f(x):
    x = x // 2
    x = x - 7
    x = x // 2
    return x - 1
