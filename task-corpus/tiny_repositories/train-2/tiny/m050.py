def f(x):
    return x + 'y'
