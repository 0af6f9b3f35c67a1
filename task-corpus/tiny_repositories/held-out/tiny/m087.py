def f(x):
    x = [x, 'd']
    x = x[::-1]
    return sorted(x)
