def f(x):
    if x[0] == 'e':
        return x + 'd'
    return x.find('d')
