def f(x):
    x = x + 8
    return abs(x - 3)
