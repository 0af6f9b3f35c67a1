def f(x):
    x = x * 3 + 5
    return x - 5
