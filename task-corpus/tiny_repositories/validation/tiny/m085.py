def f(x):
    x = sorted(x)[::-1]
    if sum(x) > 11:
        x = sorted(x)
    return [v * 4 for v in x]
