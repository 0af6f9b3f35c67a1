def f(x):
    x = x[-1]
    x = str(x)
    return x.replace('a', 'z')
