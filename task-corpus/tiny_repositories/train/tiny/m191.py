def f(x):
    if len(x) > 3:
        x = [x[0], x[-1]]
    x = x[0] * 4
    x = x + 9
    return abs(x - 3)
