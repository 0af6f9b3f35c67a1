def f(x):
    return [v * 3 for v in x]
