def f(x):
    x = x[::-1]
    if len(x) > 2:
        return x.replace('a', 'y')
    return x + 'x'
