def f(x):
    x = x[::-1]
    if x[0] == 'e':
        return x * 3
    return list(x)
