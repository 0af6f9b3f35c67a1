def f(x):
    x = x[0]
    x = x * 3
    return x * 9
