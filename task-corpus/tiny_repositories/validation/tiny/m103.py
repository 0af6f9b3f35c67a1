def f(x):
    if x < 3:
        return abs(x - 6)
    return x % 4
