def f(x):
    x = x // 3
    x = [x, x + 1]
    return max(x)
