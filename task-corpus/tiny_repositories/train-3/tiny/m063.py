def f(x):
    if 'e' in x:
        return x[1:] + x[:1]
    x = x + 'e'
    x = len(x)
    return max(x, 2)
