def f(x):
    x = sorted(x)
    return [x[0], x[-1]]
