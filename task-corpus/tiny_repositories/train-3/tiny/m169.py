def f(x):
    if x > 6:
        return 11 - x
    x = x // 4
    return [x, 0]
