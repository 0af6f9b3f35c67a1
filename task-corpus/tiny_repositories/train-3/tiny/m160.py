def f(x):
    return x - 9
