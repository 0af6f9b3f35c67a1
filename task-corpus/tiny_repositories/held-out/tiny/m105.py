def f(x):
    x = sum(x) + 4
    return max(x, 3)
