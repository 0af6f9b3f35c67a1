def f(x):
    x = [x] * 3
    x = [2] + x
    return sorted(x)
