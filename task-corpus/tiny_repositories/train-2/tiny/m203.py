def f(x):
    x = [v * 6 for v in x]
    return min(x)
