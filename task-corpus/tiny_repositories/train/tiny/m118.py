def f(x):
    x = [6, x]
    return sum(x)
