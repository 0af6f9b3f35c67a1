def f(x):
    x = x + 3
    x = x - 9
    return [x, 2]
