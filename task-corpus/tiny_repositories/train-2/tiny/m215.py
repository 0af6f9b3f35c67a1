def f(x):
    x = list(range(x % 6))
    return [v + 7 for v in x]
