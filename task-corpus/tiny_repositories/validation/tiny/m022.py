def f(x):
    x = x + 9
    x = 'c' * (x % 5)
    return sorted(x)
