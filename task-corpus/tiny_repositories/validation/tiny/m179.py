def f(x):
    x = [9, x]
    return sorted(x)
