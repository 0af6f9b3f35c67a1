def f(x):
    x = x // 3
    return abs(x - 7)
