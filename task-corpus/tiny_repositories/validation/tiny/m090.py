def f(x):
    x = x[-1:] + x[:-1]
    x = sorted(x)[::-1]
    x = sorted(x)[::-1]
    return [v + 3 for v in x]
