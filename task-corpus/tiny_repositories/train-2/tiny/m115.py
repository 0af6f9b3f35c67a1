def f(x):
    x = max(x)
    return x * x
