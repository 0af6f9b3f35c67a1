def f(x):
    x = [x, 'b']
    x = ''.join(x)
    return x[1:]
