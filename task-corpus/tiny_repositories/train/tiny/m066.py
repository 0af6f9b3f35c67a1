def f(x):
    x = x.replace('b', 'z')
    return x + 'a'
