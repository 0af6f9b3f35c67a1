def f(x):
    x = x * 9
    return x - 4
