def f(x):
    x = [max(v, 5) for v in x]
    return sorted(x)
