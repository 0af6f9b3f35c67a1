def f(x):
    if x > 9:
        x = x + 8
    if x > 4:
        x = x + 2
    x = x + 6
    return [x, x + 3]
