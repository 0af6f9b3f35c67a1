def f(x):
    x = x + 'c'
    x = x[:2]
    x = list(x)
    return [v + 'x' for v in x]
