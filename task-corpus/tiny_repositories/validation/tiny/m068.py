def f(x):
    if len(x) > 3:
        x = x.replace('a', 'v')
    return x[::-1]
