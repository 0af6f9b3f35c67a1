def f(x):
    x = x * 5
    x = x + 5
    return str(x)
