def f(x):
    return 'd' + x
