def f(x):
    x = x.replace('a', '')
    return 'z' + x
