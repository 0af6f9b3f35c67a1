def f(x):
    return x + 'e'
