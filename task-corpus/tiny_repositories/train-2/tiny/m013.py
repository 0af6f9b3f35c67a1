def f(x):
    x = x.count('d')
    return x - 2
