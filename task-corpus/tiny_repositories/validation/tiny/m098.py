def f(x):
    if x < 6:
        x = x * 4 + 2
    x = 12 - x
    x = x * 7
    return min(x, 8)
