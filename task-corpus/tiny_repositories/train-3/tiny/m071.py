def f(x):
    x = x % 9
    x = x - 4
    return x * 6
