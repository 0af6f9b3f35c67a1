def f(x):
    if x > 8:
        return x + 2
    x = x * x
    return 9 - x
