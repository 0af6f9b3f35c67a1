def f(x):
    x = max(x)
    x = x - 7
    return x * 3
