def f(x):
    x = x[:2]
    return [v for v in x if v < 7]
