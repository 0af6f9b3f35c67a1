def f(x):
    x = x[:-1]
    return [v + 1 for v in x]
