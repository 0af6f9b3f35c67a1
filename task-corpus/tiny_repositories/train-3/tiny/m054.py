def f(x):
    x = x + 'c'
    return x.replace('b', '')
