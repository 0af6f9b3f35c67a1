def f(x):
    x = [0, x]
    x = [v + 1 for v in x]
    return x[1:]
