def f(x):
    if sum(x) > 10:
        return x[0] * 8
    x = [v + 1 for v in x]
    x = [v * 4 for v in x]
    return [v for v in x if v < 6]
