def f(x):
    if len(x) > 2:
        x = x[:2]
    x = x[:2]
    return [v + 3 for v in x]
