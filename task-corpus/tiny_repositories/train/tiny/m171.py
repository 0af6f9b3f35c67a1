def f(x):
    if sum(x) > 12:
        return [v * 4 for v in x]
    x = x[:-1]
    return x[::-1]
