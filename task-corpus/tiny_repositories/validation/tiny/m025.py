def f(x):
    x = [v + 3 for v in x]
    return [v for v in x if v != 8]
