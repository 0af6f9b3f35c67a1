def f(x):
    x = sorted(x)
    if x[0] > 3:
        x = sorted(x)
    x = x[0]
    return x - 6
