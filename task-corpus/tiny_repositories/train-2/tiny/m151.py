def f(x):
    if x[0] == 'e':
        return len(x)
    if 'a' in x:
        return x[::-1]
    x = 'a' + x
    return x.upper()
