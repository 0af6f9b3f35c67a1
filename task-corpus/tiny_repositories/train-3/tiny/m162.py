def f(x):
    x = [2, x]
    return x[-1]
