def f(x):
    x = str(x)
    return x.replace('b', 'y')
