def f(x):
    x = max(x) - min(x)
    return list(range(x % 7))
