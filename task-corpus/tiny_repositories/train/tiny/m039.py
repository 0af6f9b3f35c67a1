def f(x):
    x = x % 7
    x = x - 3
    x = x + 3
    return x - 3
