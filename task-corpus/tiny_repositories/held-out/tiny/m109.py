def f(x):
    if sum(x) > 12:
        x = x[1:]
    x = x + [8]
    x = x[:-1]
    return min(x)
