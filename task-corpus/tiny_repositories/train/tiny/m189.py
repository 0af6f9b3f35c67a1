def f(x):
    x = x + 5
    return 'e' * (x % 5)
