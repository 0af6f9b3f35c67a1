def f(x):
    x = x.upper()
    return 'b' + x
