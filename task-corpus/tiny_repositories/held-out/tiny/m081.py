def f(x):
    x = x * 8
    x = [x, x + 6]
    return x[::2]
