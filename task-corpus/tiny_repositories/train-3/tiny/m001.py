def f(x):
    x = x + [2]
    x = max(x)
    x = x * x
    return x * 2
