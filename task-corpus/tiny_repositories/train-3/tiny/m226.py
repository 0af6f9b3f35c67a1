def f(x):
    x = list(range(x % 6))
    return x[::-1]
