def f(x):
    return x + 'a'
