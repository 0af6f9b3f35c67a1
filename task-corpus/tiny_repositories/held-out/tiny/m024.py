def f(x):
    x = x * 5
    x = x // 4
    return x + 3
