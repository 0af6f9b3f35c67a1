def f(x):
    x = [x, x + 3]
    x = [v * 5 for v in x]
    return sorted(x)
