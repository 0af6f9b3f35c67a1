def f(x):
    x = x.replace('a', '')
    x = x[:-1]
    return x[1:]
