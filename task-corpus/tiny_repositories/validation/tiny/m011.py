def f(x):
    x = max(x, 2)
    x = list(range(x % 7))
    return [v * 2 for v in x]
