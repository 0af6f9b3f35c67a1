def f(x):
    x = x + [7]
    x = [v for v in x if v > 4]
    return max(x) - min(x)
