def f(x):
    x = x.find('d')
    x = str(x)
    return x[:2]
