def f(x):
    x = sum(x) + 2
    return x * 2
