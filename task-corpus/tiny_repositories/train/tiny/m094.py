def f(x):
    x = x[-1:] + x[:-1]
    x = x.replace('a', '')
    if 'c' in x:
        x = x * 2
    return x.replace('e', '')
