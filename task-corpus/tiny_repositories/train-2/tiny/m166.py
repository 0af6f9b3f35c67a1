def f(x):
    return [v for v in x if v < 8]
