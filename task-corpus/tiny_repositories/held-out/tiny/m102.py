def f(x):
    return 'c' + x + 'b'
