def f(x):
    x = x * x
    x = 6 - x
    return 'd' * (x % 6)
