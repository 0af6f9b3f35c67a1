def f(x):
    x = x * 3
    return 'y' * (x % 5)
