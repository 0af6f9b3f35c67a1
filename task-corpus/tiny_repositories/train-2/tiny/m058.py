def f(x):
    x = sum(x) + 1
    return x + 2
