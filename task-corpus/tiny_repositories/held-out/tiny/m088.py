def f(x):
    if 'b' in x:
        x = x + 'z'
    return x.upper()
