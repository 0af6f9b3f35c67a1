def f(x):
    x = x + 'b'
    x = x[::2]
    return [v + 'z' for v in x]
