def f(x):
    x = max(x)
    x = x + 1
    x = x + 10
    return x + 12
