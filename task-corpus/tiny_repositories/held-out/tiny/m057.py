def f(x):
    x = [x] * 4
    return [v + 4 for v in x]
