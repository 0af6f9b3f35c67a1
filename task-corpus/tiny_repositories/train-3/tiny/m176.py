def f(x):
    x = x + x
    x = x + x
    return 'd' + x
