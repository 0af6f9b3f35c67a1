def f(x):
    x = [v for v in x if v > 2]
    x = x[::-1]
    return [5] + x
