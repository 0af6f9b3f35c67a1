def f(x):
    x = x * 6
    return [x] * 2
