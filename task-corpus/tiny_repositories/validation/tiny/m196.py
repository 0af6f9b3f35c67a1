def f(x):
    x = x // 2
    return list(range(x % 4))
