def f(x):
    x = x * x
    x = x + 3
    return [x, 5]
