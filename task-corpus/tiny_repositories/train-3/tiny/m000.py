def f(x):
    if x < 7:
        return max(x, 5)
    return x + 12
