def f(x):
    x = x[-1]
    x = x - 9
    return x * 4 + 5
