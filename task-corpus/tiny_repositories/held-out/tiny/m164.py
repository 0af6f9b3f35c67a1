def f(x):
    x = x.upper()
    x = x[::-1]
    x = x + 'x'
    return 'x' + x
