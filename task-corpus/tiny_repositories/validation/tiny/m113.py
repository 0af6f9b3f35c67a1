def f(x):
    x = min(x, 9)
    x = x * 4 + 1
    x = x + 11
    return max(x, 7)
