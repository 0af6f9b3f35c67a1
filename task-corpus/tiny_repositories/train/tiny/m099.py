def f(x):
    if 'e' in x:
        x = x + x
    return x[1:]
