def f(x):
    x = x[0]
    x = x - 5
    return x - 5
