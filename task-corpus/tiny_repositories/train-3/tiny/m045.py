def f(x):
    x = list(x)
    x = x[1:]
    return [v + 'd' for v in x]
