def f(x):
    x = x.replace('e', 'z')
    if x[0] == 'b':
        x = x[1:]
    return [x, 'd']
