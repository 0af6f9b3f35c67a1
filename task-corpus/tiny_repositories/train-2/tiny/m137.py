def f(x):
    x = x // 2
    x = x * 3
    return x * 2 + 1
