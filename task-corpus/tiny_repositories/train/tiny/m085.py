def f(x):
    x = x + 2
    x = x + 8
    return x * 9
