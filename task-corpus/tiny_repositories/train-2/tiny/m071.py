def f(x):
    x = sum(x)
    return x * x
