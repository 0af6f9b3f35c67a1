def f(x):
    x = x[1:]
    x = x[1:]
    if sum(x) > 12:
        x = [v for v in x if v > 5]
    return sorted(x)
