def f(x):
    x = x[1:] + x[:1]
    if len(x) > 2:
        x = x[:2]
    return [v * 6 for v in x]
