def f(x):
    x = x - 5
    x = abs(x - 7)
    return x % 9
