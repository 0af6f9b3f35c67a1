def f(x):
    x = [v + 'c' for v in x]
    return x[:-1]
