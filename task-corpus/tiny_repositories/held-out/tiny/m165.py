def f(x):
    x = x - 7
    return list(range(x % 6))
