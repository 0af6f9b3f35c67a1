def f(x):
    x = 'c' * (x % 4)
    return 'x' + x
