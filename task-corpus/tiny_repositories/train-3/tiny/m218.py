def f(x):
    x = x + 'z'
    return x.replace('c', '')
