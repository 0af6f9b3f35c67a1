def f(x):
    x = x[::2]
    x = x.replace('c', 'v')
    x = x.replace('b', 'y')
    return 'z' + x + 'e'
