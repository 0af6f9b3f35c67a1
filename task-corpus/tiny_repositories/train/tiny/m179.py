def f(x):
    x = x[0]
    x = x + 10
    return x + 9
