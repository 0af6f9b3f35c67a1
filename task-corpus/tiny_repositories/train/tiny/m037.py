def f(x):
    x = x[1:]
    x = sum(x)
    return x + 12
