def f(x):
    x = x + 9
    x = max(x, 4)
    x = x * 4 + 5
    return x + 9
