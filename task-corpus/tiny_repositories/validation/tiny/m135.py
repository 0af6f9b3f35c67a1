def f(x):
    if x > 5:
        return min(x, 8)
    x = x + 5
    return x - 9
