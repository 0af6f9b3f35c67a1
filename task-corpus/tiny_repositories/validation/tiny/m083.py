def f(x):
    x = x + 6
    return min(x, 9)
