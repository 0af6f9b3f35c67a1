def f(x):
    x = list(x)
    return 'b'.join(x)
