def f(x):
    x = x.replace('e', 'w')
    return sorted(x)
