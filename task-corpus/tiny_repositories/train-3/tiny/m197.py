def f(x):
    if sum(x) > 10:
        x = x[:-1]
    x = x[1:] + x[:1]
    return x + [0]
