def f(x):
    x = sorted(x)
    return [v + 1 for v in x]
