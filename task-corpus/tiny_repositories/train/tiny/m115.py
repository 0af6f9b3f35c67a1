def f(x):
    if len(x) > 3:
        x = x.replace('b', 'z')
    return x + x
