def f(x):
    if 5 in x:
        x = [v * 2 for v in x]
    x = x[::2]
    if x[0] > 2:
        return [v * 2 for v in x]
    return sorted(x)
