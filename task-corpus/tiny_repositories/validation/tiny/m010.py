def f(x):
    if len(x) > 2:
        return x.upper()
    x = x + 'e'
    return x[:-1]
