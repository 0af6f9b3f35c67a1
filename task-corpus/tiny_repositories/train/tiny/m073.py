def f(x):
    x = sorted(x)
    return [v % 6 for v in x]
