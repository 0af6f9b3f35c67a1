def f(x):
    x = min(x, 9)
    x = x * 9
    return [5, x]
