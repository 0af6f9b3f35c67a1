def f(x):
    x = x + 4
    x = x * 2 + 5
    x = [x, x + 6]
    return min(x)
