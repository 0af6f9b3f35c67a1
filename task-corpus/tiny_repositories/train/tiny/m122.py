def f(x):
    x = x * 5 + 2
    x = x - 8
    return x * 4 + 9
