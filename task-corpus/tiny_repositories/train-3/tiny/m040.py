def f(x):
    if x < 3:
        return abs(x - 2)
    x = [x, x + 9]
    return x[0] + x[-1]
