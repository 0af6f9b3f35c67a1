def f(x):
    return x.find('a')
