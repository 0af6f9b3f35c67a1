def f(x):
    x = x + 'b'
    return x.upper()
