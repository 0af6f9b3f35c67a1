def f(x):
    if 'a' in x:
        x = x[-1:] + x[:-1]
    x = x[1:] + x[:1]
    return x[-1:] + x[:-1]
