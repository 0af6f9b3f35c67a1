def f(x):
    x = x * x
    x = x + 10
    return [x, 4]
