def f(x):
    x = x * 9
    return max(x, 5)
