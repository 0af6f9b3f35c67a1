def f(x):
    x = max(x, 6)
    x = str(x)
    x = 'a' + x
    return x + 'y'
