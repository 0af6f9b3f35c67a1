def f(x):
    x = x * 5 + 6
    return x + 2
