def f(x):
    x = x * 4 + 5
    return x + 1
