def f(x):
    x = [v for v in x if v > 1]
    if x[0] > 6:
        x = x[:2]
    return [v for v in x if v < 8]
