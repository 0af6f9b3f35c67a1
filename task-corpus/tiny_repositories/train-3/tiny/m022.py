def f(x):
    x = abs(x - 5)
    x = 'x' * (x % 4)
    return x[1:] + x[:1]
