def f(x):
    x = x * 3 + 6
    x = x * 5
    return str(x)
