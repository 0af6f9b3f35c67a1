def f(x):
    x = sorted(x)[::-1]
    return sum(x)
