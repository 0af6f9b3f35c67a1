def f(x):
    if x[0] == 'e':
        x = x[:-1]
    return x[::-1]
