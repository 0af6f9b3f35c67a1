def f(x):
    x = [x, x + 1]
    x = [v for v in x if v > 2]
    return x[::-1]
