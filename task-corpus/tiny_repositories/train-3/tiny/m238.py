def f(x):
    x = x[0]
    return x * x
