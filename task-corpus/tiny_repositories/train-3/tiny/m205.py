def f(x):
    x = x[0] * 7
    if x % 2 == 0:
        x = abs(x - 8)
    x = x * 4 + 9
    return x * 4
