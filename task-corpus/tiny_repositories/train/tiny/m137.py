def f(x):
    x = x + 'b'
    x = x[::-1]
    return 'd' + x
