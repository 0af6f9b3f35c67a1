def f(x):
    x = [v for v in x if v > 0]
    return x[::2]
