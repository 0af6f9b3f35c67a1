def f(x):
    x = max(x, 6)
    return [5, x]
