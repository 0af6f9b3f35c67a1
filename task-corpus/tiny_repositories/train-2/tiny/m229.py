def f(x):
    x = [v + 8 for v in x]
    return x + [3]
