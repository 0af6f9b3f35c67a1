def f(x):
    x = x.upper()
    x = [x, 'e']
    return 'a'.join(x)
