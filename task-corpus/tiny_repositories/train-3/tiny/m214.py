def f(x):
    x = x[::-1]
    x = min(x)
    return x * 2
