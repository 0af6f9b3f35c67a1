def f(x):
    x = min(x, 5)
    x = min(x, 9)
    return [x, x + 8]
