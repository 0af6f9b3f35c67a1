def f(x):
    x = [x, 9]
    x = [v * 6 for v in x]
    x = x[1:] + x[:1]
    return x[1:] + x[:1]
