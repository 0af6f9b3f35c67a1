def f(x):
    x = x - 6
    if x % 2 == 0:
        return x * x
    return 'y' * (x % 6)
