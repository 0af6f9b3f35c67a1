def f(x):
    x = max(x, 3)
    x = x * 5 + 7
    return x + 1
