def f(x):
    x = x * 5
    x = x + 1
    return [x, x + 3]
