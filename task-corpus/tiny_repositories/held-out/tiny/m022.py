def f(x):
    x = x + [1]
    if x[0] > 6:
        x = sorted(x)
    x = max(x) + 2
    return x - 9
