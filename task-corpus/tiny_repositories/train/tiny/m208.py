def f(x):
    x = x - 2
    x = x + 2
    x = x * 4 + 8
    return x * 3
