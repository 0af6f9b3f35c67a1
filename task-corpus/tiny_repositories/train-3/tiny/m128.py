def f(x):
    x = sorted(x)
    x = x[::-1]
    return sum(x) + 1
