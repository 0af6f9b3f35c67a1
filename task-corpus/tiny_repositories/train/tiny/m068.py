def f(x):
    return 'b' + x
