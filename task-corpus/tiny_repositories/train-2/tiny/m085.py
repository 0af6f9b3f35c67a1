def f(x):
    x = x.replace('b', '')
    return [x, 'a']
