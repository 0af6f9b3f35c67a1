def f(x):
    x = [x] * 3
    x = [v for v in x if v > 4]
    return x + [1]
