def f(x):
    x = x + 'a'
    return 'z' + x
