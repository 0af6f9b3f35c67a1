def f(x):
    x = sum(x) % 9
    return [x, x + 4]
