def f(x):
    x = x * 5
    x = x * 3
    return x + 10
