def f(x):
    if 'b' in x:
        return x[:-1]
    return x[::-1]
