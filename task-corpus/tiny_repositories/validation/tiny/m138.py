def f(x):
    x = 'a' * (x % 5)
    return sorted(x)
