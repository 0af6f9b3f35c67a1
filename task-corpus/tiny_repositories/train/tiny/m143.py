def f(x):
    x = x[-1]
    x = abs(x - 6)
    return abs(x - 4)
