def f(x):
    if len(x) > 3:
        return x.replace('e', 'x')
    return x[::-1]
