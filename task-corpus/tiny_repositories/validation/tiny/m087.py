def f(x):
    x = list(x)
    x = x[1:]
    if 'b' in x:
        return x[1:] + x[:1]
    return x[-1]
