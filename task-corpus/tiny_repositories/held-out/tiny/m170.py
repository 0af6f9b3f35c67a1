def f(x):
    for i in range(2):
        x = x.upper()
    if 'd' in x:
        x = x[1:]
    return x[:-1]
