def f(x):
    x = x + 9
    x = x % 6
    return x * 8
