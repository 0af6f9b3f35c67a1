def f(x):
    if x < 3:
        return [x, x + 4]
    x = x * 2
    return [x, 6]
