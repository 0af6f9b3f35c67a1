def f(x):
    x = str(x)
    x = x[::-1]
    return x.replace('b', 'w')
