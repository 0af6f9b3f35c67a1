def f(x):
    x = [8] + x
    return x[-1]
