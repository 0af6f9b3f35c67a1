def f(x):
    x = abs(x - 3)
    return [x, x + 4]
