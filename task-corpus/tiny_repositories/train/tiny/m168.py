def f(x):
    x = x + [6]
    return sum(x) + 3
