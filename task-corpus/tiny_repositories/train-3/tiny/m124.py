def f(x):
    if 'c' in x:
        return x[-1:] + x[:-1]
    return x[1:]
