def f(x):
    x = [v for v in x if v > 4]
    x = x[:2]
    return sorted(x)[::-1]
