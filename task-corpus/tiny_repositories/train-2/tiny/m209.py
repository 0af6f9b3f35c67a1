def f(x):
    x = list(range(x % 5))
    return x[::-1]
