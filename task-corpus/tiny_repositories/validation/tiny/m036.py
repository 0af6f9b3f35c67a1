def f(x):
    x = 'd' * (x % 4)
    return len(x) + 2
