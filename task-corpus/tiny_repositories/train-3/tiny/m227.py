def f(x):
    x = x // 2
    x = x * 7
    return x + 11
