def f(x):
    x = x.replace('e', '')
    return [x, 'b']
