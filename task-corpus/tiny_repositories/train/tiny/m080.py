def f(x):
    x = x.replace('d', 'y')
    return x.upper()
