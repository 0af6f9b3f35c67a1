def f(x):
    x = x.find('b')
    return x * 3
