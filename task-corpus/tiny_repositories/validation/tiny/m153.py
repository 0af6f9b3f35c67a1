def f(x):
    x = x * 2
    for i in range(2):
        x = x + str(i)
    x = x.replace('d', 'z')
    return x.replace('d', '')
