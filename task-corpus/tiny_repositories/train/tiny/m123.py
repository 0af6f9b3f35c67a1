def f(x):
    if x % 2 == 0:
        return max(x, 7)
    return x * 6
