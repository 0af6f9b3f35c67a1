def f(x):
    x = abs(x - 2)
    if x > 9:
        x = x + 6
    return x * 4 + 1
