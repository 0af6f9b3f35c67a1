def f(x):
    x = x[::-1]
    x = [v * 3 for v in x]
    x = x[:2]
    return x[::-1]
