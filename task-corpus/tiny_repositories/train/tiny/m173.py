def f(x):
    x = x * 2 + 7
    x = x % 8
    return x * 4
