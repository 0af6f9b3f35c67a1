def f(x):
    x = x.replace('a', '')
    return x[:-1]
