def f(x):
    if x > 2:
        x = x % 5
    x = x - 4
    return x + 8
