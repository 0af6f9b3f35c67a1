def f(x):
    x = [x, 4]
    return x[:2]
