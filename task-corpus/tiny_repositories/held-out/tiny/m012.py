def f(x):
    x = x * 3
    x = abs(x - 7)
    return x * 4
