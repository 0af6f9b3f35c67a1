def f(x):
    x = abs(x - 4)
    x = [x] * 3
    return x + [0]
