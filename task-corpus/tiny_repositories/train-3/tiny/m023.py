def f(x):
    x = x + x
    x = x + 'b'
    return x[::-1]
