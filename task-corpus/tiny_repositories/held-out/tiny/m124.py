def f(x):
    x = 12 - x
    return [x, x + 8]
