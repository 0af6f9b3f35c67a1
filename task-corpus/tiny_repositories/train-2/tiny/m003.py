def f(x):
    return 'c' + x + 'z'
