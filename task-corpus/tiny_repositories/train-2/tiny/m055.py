def f(x):
    x = x[1:] + x[:1]
    x = x[1:]
    x = [x, 'd']
    return sorted(x)
