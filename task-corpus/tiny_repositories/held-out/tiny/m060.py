def f(x):
    if len(x) > 3:
        x = 'x' + x
    return 'x' + x
