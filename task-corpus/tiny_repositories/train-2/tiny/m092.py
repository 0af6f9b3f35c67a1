def f(x):
    return x.replace('e', '')
