def f(x):
    x = x * 8
    return [x, 5]
