def f(x):
    x = x + 'z'
    return x[:2]
