def f(x):
    x = x * 3
    x = x + 5
    return x + 7
