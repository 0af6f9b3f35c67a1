def f(x):
    x = sum(x) + 4
    return x * 2
