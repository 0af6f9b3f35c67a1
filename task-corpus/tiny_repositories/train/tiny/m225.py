def f(x):
    x = max(x)
    x = abs(x - 9)
    return x - 7
