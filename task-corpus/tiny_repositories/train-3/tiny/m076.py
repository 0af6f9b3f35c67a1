def f(x):
    x = [x, x + 1]
    return max(x)
