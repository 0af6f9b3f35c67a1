def f(x):
    x = min(x)
    return abs(x - 7)
