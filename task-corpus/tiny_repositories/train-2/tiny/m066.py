def f(x):
    x = sorted(x)
    x = [v + 'x' for v in x]
    return sorted(x)
