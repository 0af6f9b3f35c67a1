def f(x):
    x = str(x)
    x = x + x
    x = sorted(x)
    return x[::-1]
