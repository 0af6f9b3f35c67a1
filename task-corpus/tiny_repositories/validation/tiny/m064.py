def f(x):
    x = 'c' * (x % 4)
    x = len(x) * 2
    return str(x)
