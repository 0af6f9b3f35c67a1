def f(x):
    x = x * 2
    if 'b' in x:
        return len(x)
    return x.replace('b', '')
