def f(x):
    if 5 in x:
        x = [v * 4 for v in x]
    return [v for v in x if v < 8]
