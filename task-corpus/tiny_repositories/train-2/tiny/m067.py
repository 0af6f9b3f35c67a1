def f(x):
    return abs(x - 4)
