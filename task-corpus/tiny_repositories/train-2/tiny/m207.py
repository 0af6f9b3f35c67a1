def f(x):
    x = x + [2]
    x = sum(x)
    return x * 2 + 2
