def f(x):
    x = [v for v in x if v < 7]
    x = x[:-1]
    return sum(x)
