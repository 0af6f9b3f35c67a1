def f(x):
    x = [5, x]
    if len(x) > 3:
        x = [v for v in x if v < 6]
    return x[::-1]
