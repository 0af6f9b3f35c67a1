def f(x):
    x = x + 'z'
    x = x + 'e'
    return x[:-1]
