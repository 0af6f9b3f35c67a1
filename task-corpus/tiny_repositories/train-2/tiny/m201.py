def f(x):
    x = x[0] * 8
    x = x // 2
    return x * 4 + 3
