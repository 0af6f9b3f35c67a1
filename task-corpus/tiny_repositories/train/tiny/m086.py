def f(x):
    if x[0] > 7:
        return [v for v in x if v > 1]
    x = [v for v in x if v > 3]
    x = x[1:] + x[:1]
    return x[::-1]
