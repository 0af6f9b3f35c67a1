def f(x):
    x = list(range(x % 5))
    return [v + 5 for v in x]
