def f(x):
    if x[0] == 'e':
        return x[::-1]
    return x[:2]
