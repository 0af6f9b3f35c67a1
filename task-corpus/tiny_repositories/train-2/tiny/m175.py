def f(x):
    x = x + 9
    return abs(x - 4)
