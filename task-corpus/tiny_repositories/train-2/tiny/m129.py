def f(x):
    x = [v + 'd' for v in x]
    return x[1:]
