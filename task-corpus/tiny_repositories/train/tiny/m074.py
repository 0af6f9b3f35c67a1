def f(x):
    x = x[:-1]
    if 'd' in x:
        return list(x)
    return [x, 'c']
