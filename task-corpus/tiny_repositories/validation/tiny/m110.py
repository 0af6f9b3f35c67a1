def f(x):
    x = x[:-1]
    for i in range(2):
        x = x[::-1]
    return x.replace('b', 'z')
