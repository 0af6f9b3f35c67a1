def f(x):
    x = 'a' + x + 'x'
    x = x[::2]
    return 'b' + x + 'b'
