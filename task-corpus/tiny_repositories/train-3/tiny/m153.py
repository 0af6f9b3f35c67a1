def f(x):
    x = max(x) + 8
    x = x * 3 + 2
    return x * 6
