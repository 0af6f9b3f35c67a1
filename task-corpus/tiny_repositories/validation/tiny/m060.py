def f(x):
    x = x - 8
    x = x % 9
    return x * x
