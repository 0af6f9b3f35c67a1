def f(x):
    if sum(x) > 12:
        return [v for v in x if v < 4]
    return [v for v in x if v < 4]
