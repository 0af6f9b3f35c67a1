def f(x):
    x = x * 8
    x = x // 2
    x = abs(x - 3)
    return max(x, 6)
