def f(x):
    x = sum(x)
    return [x] * 3
