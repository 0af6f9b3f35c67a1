def f(x):
    x = 'x' + x
    if x[0] == 'a':
        x = x.replace('d', 'y')
    return x + 'x'
