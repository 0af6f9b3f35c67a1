def f(x):
    x = sum(x)
    x = [x, 7]
    return x[:2]
