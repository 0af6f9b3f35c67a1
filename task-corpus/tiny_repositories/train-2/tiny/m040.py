def f(x):
    return 'e' + x
