def f(x):
    x = [v for v in x if v > 2]
    return [v + 3 for v in x]
