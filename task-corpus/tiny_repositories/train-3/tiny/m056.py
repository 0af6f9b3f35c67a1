def f(x):
    x = x[1:]
    if sum(x) > 6:
        x = x[1:]
    return [v for v in x if v > 2]
