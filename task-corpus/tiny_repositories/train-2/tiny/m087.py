def f(x):
    x = x + 9
    return x * 2 + 8
