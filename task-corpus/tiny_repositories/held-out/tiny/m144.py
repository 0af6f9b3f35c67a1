def f(x):
    x = x + 12
    return [6, x]
