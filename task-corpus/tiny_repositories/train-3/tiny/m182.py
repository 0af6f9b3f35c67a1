def f(x):
    x = 10 - x
    if x > 4:
        x = max(x, 8)
    x = x * 4 + 3
    return abs(x - 3)
