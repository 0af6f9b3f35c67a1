def f(x):
    return x + 7
