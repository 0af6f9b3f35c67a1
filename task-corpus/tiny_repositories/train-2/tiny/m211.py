def f(x):
    x = x[::2]
    return [v + 'a' for v in x]
