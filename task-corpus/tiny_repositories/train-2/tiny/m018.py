def f(x):
    x = x + 11
    return x * 7
