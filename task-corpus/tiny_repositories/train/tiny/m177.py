def f(x):
    x = max(x)
    x = x * 5 + 8
    return x - 5
