def f(x):
    x = x + 5
    return x * 8
