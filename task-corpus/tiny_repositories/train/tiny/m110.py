def f(x):
    return [v + 1 for v in x]
