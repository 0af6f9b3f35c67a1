def f(x):
    if x % 2 == 0:
        x = x + 6
    return max(x, 9)
