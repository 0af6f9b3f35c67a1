def f(x):
    x = [v for v in x if v < 9]
    x = x[::-1]
    return x[::-1]
