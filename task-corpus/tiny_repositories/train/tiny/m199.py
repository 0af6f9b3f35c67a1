def f(x):
    x = list(x)
    x = x[1:]
    x = ''.join(x)
    return x[-1:] + x[:-1]
