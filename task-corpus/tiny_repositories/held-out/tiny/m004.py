def f(x):
    return x + 'd'
