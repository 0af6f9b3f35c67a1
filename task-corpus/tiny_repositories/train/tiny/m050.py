def f(x):
    x = 'b' * (x % 4)
    if 'e' in x:
        return x + 'd'
    return list(x)
