def f(x):
    return x.replace('c', 'w')
