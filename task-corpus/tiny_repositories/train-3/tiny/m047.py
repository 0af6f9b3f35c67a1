def f(x):
    x = x * 5 + 3
    return x - 6
