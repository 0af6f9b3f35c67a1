def f(x):
    x = x * 9
    x = x * 8
    return list(range(x % 5))
