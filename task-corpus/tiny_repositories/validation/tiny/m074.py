def f(x):
    x = x % 7
    return x * 2 + 1
