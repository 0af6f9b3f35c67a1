def f(x):
    return [v + 8 for v in x]
