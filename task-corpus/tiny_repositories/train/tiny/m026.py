def f(x):
    x = x + [7]
    x = x[0]
    return x % 6
