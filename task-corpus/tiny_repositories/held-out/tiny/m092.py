def f(x):
    x = list(range(x % 7))
    x = sum(x)
    return x % 9
