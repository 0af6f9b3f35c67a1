def f(x):
    x = [v + 'a' for v in x]
    return ''.join(x)
