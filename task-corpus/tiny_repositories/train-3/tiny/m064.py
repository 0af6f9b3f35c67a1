def f(x):
    x = sorted(x)
    return sum(x) + 7
