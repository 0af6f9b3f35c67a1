def f(x):
    x = min(x)
    return 'a' * (x % 6)
