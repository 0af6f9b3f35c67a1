def f(x):
    x = [x, 'e']
    x = x[::-1]
    return ''.join(x)
