def f(x):
    x = 10 - x
    x = [x, 5]
    return [v + 8 for v in x]
