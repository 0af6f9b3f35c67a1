def f(x):
    if sum(x) > 14:
        x = sorted(x)[::-1]
    x = x[1:]
    x = [v for v in x if v > 0]
    return [v + 4 for v in x]
