def f(x):
    if x > 7:
        x = x + 5
    x = max(x, 6)
    return [x, x + 2]
