def f(x):
    x = x - 4
    x = [2, x]
    return [v for v in x if v < 8]
