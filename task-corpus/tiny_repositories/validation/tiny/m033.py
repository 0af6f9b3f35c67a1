def f(x):
    return 'y' + x
