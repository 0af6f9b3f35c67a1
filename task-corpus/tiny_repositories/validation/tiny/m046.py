def f(x):
    if x[0] > 6:
        x = x[:2]
    x = x[:-1]
    return [v % 2 for v in x]
