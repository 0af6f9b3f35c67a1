def f(x):
    x = [6] + x
    x = x[1:] + x[:1]
    return [max(v, 2) for v in x]
