def f(x):
    x = x + 12
    return max(x, 7)
