def f(x):
    x = [x, 0]
    x = x[0] * 2
    return x // 3
