def f(x):
    x = x + [8]
    return sum(x)
