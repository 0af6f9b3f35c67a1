def f(x):
    x = x + 10
    return x + 10
