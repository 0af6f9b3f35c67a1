def f(x):
    x = [v * 3 for v in x]
    return x[::2]
