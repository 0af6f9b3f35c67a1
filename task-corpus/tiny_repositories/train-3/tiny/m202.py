def f(x):
    return x + 10
