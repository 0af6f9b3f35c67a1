def f(x):
    if x % 2 == 0:
        return x % 6
    return min(x, 9)
