def f(x):
    x = x + [2]
    return [v + 7 for v in x]
