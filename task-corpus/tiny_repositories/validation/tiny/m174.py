def f(x):
    x = x[1:]
    if len(x) > 2:
        x = 'a' + x
    x = [v + 'a' for v in x]
    return x[1:]
