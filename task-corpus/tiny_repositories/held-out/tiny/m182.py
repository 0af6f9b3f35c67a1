def f(x):
    x = x + 7
    x = abs(x - 9)
    x = x + 2
    return abs(x - 9)
