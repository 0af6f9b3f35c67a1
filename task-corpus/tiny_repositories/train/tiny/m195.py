def f(x):
    x = x[1:] + x[:1]
    x = x[-1:] + x[:-1]
    if sum(x) > 6:
        x = [v for v in x if v < 7]
    return x[0] + x[-1]
