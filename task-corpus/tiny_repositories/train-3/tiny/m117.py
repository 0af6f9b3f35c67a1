def f(x):
    x = 'y' + x + 'y'
    x = x.replace('d', '')
    return len(x)
