def f(x):
    x = x.replace('b', 'w')
    x = [v + 'c' for v in x]
    return x[1:]
