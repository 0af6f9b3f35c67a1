def f(x):
    x = x.upper()
    x = x[::-1]
    x = x.replace('c', 'w')
    return x[::-1]
