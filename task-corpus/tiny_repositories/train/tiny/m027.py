def f(x):
    x = x[0] * 3
    return [x, x + 8]
