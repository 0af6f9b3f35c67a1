def f(x):
    x = x * 4
    x = x % 5
    return x + 2
