def f(x):
    x = abs(x - 3)
    x = x + 12
    x = 7 - x
    return x * 5 + 3
