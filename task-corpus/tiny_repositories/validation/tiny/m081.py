def f(x):
    x = x.upper()
    x = x.replace('c', 'z')
    x = x[:-1]
    return x[1:]
