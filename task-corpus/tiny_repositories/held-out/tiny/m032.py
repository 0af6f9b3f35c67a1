def f(x):
    x = x.replace('a', '')
    return list(x)
