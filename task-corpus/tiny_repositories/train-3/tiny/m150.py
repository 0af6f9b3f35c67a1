def f(x):
    x = x.replace('b', '')
    return x * 2
