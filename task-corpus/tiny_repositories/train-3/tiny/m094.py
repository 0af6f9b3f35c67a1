def f(x):
    return x.replace('b', '')
