def f(x):
    x = max(x, 8)
    x = [x] * 2
    return [2] + x
