def f(x):
    x = [v + 1 for v in x]
    return [max(v, 7) for v in x]
