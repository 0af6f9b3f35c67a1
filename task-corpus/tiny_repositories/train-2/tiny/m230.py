def f(x):
    return x + 'c'
