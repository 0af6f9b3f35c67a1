def f(x):
    x = x[::-1]
    x = x[-1]
    x = x + 1
    return max(x, 4)
