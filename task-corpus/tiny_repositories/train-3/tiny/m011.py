def f(x):
    x = x * 6
    return max(x, 8)
