def f(x):
    x = x.upper()
    return x.replace('a', '')
