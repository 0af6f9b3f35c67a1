def f(x):
    x = sorted(x)[::-1]
    x = max(x) + 6
    return x + 11
