def f(x):
    x = x.replace('c', '')
    return x + 'd'
