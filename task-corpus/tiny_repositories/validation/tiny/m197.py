def f(x):
    if x[0] == 'd':
        x = x[:-1]
    x = x[::-1]
    return sorted(x)
