def f(x):
    if x[0] == 'd':
        return x + x
    return list(x)
