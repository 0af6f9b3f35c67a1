def f(x):
    x = x[1:]
    x = x.replace('d', 'v')
    return [v + 'c' for v in x]
