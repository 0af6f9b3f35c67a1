def f(x):
    x = x * 2 + 9
    return abs(x - 4)
