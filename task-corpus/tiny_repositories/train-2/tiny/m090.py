def f(x):
    x = max(x, 2)
    return [x, 0]
