def f(x):
    x = abs(x - 9)
    return abs(x - 3)
