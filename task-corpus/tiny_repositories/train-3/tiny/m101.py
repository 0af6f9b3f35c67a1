def f(x):
    return x.replace('a', '')
