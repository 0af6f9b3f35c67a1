def f(x):
    return [max(v, 6) for v in x]
