def f(x):
    x = x - 7
    if x > 9:
        return abs(x - 6)
    return x % 6
