def f(x):
    x = [x, 'c']
    return sorted(x)
