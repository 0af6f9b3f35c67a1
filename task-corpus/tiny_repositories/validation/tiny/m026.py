def f(x):
    x = max(x, 7)
    return x + 5
