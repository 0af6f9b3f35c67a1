def f(x):
    x = 'a' + x + 'z'
    return x + x
