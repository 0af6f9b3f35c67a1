def f(x):
    x = [x, 'd']
    x = x + ['y']
    return ''.join(x)
