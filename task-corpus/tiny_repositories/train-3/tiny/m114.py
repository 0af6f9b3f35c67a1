def f(x):
    x = [v for v in x if v > 1]
    return x[0] * 2
