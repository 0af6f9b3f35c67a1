def f(x):
    x = [v for v in x if v > 4]
    return x[1:] + x[:1]
