def f(x):
    x = x + 'c'
    x = x.find('c')
    return str(x)
