def f(x):
    if x > 2:
        x = x - 6
    x = x + 4
    return x + 2
