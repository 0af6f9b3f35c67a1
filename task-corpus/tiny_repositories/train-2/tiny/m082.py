def f(x):
    x = sorted(x)
    return [v + 7 for v in x]
