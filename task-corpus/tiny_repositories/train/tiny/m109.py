def f(x):
    x = x.replace('a', '')
    x = x.replace('e', '')
    return x[:-1]
