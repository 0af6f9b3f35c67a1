def f(x):
    x = [v for v in x if v > 3]
    return [v for v in x if v != 5]
