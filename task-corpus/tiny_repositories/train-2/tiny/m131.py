def f(x):
    if 'a' in x:
        return x[:2]
    x = x[1:]
    x = 'a' + x
    return x + x
