def f(x):
    x = sum(x) % 6
    return [x] * 3
