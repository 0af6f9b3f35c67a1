def f(x):
    if 1 in x:
        return x[1:] + x[:1]
    return [v * 4 for v in x]
