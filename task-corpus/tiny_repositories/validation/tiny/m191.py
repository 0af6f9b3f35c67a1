def f(x):
    x = [v for v in x if v > 0]
    x = max(x)
    return x + 12
