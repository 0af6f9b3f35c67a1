def f(x):
    x = 10 - x
    x = x * 8
    return [x, 0]
