def f(x):
    x = x[1:]
    x = [v for v in x if v < 4]
    return x + [2]
