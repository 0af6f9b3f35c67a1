def f(x):
    x = x.replace('c', 'y')
    x = [x, 'y']
    x = ''.join(x)
    return x[:2]
