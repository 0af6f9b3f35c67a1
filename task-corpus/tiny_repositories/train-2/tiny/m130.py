def f(x):
    x = sum(x)
    x = x + 8
    return x * 2
