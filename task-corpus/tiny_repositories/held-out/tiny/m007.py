def f(x):
    if x > 8:
        x = max(x, 4)
    return x + 7
