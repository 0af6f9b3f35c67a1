def f(x):
    x = x[:2]
    x = 'e' + x + 'e'
    return x[1:]
