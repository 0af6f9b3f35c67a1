def f(x):
    x = x[::-1]
    x = x + 'd'
    return x + x
