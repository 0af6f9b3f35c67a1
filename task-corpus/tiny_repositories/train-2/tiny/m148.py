def f(x):
    x = x - 5
    return 'z' * (x % 4)
