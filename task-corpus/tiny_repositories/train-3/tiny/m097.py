def f(x):
    x = abs(x - 9)
    return x + 8
