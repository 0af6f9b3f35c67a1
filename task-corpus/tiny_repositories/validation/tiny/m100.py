def f(x):
    x = list(range(x % 4))
    return [v % 6 for v in x]
