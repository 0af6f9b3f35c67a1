def f(x):
    x = x * 5 + 1
    return [x, 3]
