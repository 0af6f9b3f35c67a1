def f(x):
    x = x[1:] + x[:1]
    x = [9] + x
    return sorted(x)
