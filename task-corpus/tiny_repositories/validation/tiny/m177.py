def f(x):
    x = x % 7
    return abs(x - 2)
