def f(x):
    x = x + 9
    return x * 3 + 9
