def f(x):
    x = x + 'a'
    x = x.upper()
    return [x, 'b']
