def f(x):
    x = x + 12
    return x * 6
