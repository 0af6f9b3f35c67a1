def f(x):
    if 'c' in x:
        x = x.replace('c', 'x')
    if len(x) > 3:
        return x + 'a'
    x = list(x)
    return 'd'.join(x)
