def f(x):
    x = x + 9
    x = x * x
    return [x, 4]
