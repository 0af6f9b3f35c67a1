def f(x):
    x = [v * 6 for v in x]
    return [v for v in x if v > 4]
