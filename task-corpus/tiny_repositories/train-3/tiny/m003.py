def f(x):
    x = min(x)
    return x * 2 + 7
