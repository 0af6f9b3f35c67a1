def f(x):
    x = x.replace('e', 'x')
    return x.find('c')
