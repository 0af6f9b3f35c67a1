def f(x):
    x = [v + 1 for v in x]
    x = [2] + x
    return [max(v, 2) for v in x]
