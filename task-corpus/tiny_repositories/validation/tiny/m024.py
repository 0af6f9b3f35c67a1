def f(x):
    x = max(x) + 6
    x = x + 7
    return 12 - x
