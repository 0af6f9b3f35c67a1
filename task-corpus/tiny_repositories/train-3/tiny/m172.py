def f(x):
    x = x[::-1]
    if len(x) > 3:
        return list(x)
    x = x.replace('b', '')
    return x[::-1]
