def f(x):
    if 'a' in x:
        x = x.replace('c', 'w')
    return x[:2]
