def f(x):
    x = x[0]
    return 'c' * (x % 4)
