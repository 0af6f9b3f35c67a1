def f(x):
    x = [v for v in x if v < 4]
    x = x[0]
    return x + 12
