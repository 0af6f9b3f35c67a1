def f(x):
    x = x + 4
    x = [x] * 2
    return [v + 4 for v in x]
