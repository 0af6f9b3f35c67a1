def f(x):
    x = [v + 1 for v in x]
    return [v for v in x if v > 0]
