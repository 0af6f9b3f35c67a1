def f(x):
    x = x[1:]
    x = [v for v in x if v < 8]
    return x[::-1]
