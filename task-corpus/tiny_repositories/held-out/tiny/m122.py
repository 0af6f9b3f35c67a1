def f(x):
    x = max(x) - min(x)
    x = x - 5
    return x + 9
