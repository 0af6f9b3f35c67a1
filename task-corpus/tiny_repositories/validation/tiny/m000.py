def f(x):
    return [v + 7 for v in x]
