def f(x):
    x = x + 2
    x = x * 3 + 4
    return x * 5
