def f(x):
    x = x[-1:] + x[:-1]
    if x[0] == 'c':
        x = x.replace('d', '')
    for i in range(2):
        x = x[1:] + x[:1]
    return x[::-1]
