def f(x):
    x = x[::-1]
    for i in range(2):
        x = x.replace('a', 'w')
    return 'y' + x
