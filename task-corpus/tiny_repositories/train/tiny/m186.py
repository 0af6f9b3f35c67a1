def f(x):
    return 'z' + x
