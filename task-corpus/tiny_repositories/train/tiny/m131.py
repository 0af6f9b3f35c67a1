def f(x):
    x = x.upper()
    x = x.replace('c', '')
    x = x.replace('d', 'z')
    return x[::-1]
