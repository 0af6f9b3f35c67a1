def f(x):
    if x[0] == 'd':
        x = x + x
    return x[1:]
