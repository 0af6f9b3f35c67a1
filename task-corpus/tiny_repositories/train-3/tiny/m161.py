def f(x):
    x = [v + 'b' for v in x]
    return ''.join(x)
