def f(x):
    x = x[1:]
    x = [v + 'e' for v in x]
    return x[::-1]
