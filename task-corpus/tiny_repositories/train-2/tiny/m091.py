def f(x):
    x = x + 9
    return [x, x + 5]
