def f(x):
    if 'c' in x:
        x = x[1:] + x[:1]
    x = x.replace('a', 'v')
    if x[0] == 'a':
        x = x + 'x'
    return x[:2]
