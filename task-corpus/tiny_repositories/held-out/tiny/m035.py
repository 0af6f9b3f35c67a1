def f(x):
    x = x + 7
    x = [0, x]
    return [max(v, 7) for v in x]
