def f(x):
    return [x, x + 2]
