def f(x):
    x = x * 2
    x = max(x, 6)
    x = x % 9
    return x * x
