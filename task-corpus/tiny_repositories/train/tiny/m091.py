def f(x):
    x = [x, 4]
    x = [4] + x
    return x[::-1]
