def f(x):
    x = x + 11
    return abs(x - 2)
