def f(x):
    return x % 6
