def f(x):
    x = sorted(x)
    x = ''.join(x)
    for i in range(3):
        x = x + 'y'
    return x + 'c'
