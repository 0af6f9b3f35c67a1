def f(x):
    x = max(x) - min(x)
    x = x - 9
    return x - 7
