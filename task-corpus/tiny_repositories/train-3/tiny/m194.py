def f(x):
    x = x.replace('e', 'z')
    if x[0] == 'e':
        return x[::2]
    return x.find('a')
