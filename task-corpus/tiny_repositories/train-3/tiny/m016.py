def f(x):
    x = sorted(x)
    x = [v for v in x if v < 6]
    return [x[0], x[-1]]
