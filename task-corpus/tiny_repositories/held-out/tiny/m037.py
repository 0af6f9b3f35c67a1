def f(x):
    x = x.replace('e', '')
    x = x[1:] + x[:1]
    return x[1:]
