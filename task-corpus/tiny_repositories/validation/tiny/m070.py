def f(x):
    x = x + 'y'
    x = x.replace('a', '')
    return 'y' + x + 'z'
