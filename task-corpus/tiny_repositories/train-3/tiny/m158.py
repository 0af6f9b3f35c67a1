def f(x):
    x = [v for v in x if v < 9]
    x = x[::-1]
    if 2 in x:
        return max(x)
    return x[::2]
