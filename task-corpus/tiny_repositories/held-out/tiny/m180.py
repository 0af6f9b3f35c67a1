def f(x):
    x = min(x, 4)
    return x * x
