def f(x):
    if 8 in x:
        return [v for v in x if v > 2]
    x = max(x)
    return x * 5 + 5
