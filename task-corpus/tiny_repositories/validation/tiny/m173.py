def f(x):
    x = x[1:] + x[:1]
    x = max(x)
    return x + 4
