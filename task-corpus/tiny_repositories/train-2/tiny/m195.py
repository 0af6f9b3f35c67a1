def f(x):
    return sum(x) + 2
