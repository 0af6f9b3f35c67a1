def f(x):
    x = max(x, 4)
    x = x + 1
    return x * 3 + 9
