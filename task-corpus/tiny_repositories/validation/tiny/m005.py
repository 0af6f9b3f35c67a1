def f(x):
    x = 'b' + x + 'z'
    x = x.upper()
    if len(x) > 3:
        x = x[1:] + x[:1]
    return x[1:]
