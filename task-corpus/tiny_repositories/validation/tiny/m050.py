def f(x):
    x = x[1:]
    for i in range(3):
        x = x.replace('c', '')
    return x.replace('d', 'y')
