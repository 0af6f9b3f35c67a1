def f(x):
    x = x[:2]
    return sum(x) + 9
