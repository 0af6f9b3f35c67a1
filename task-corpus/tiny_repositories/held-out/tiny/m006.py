def f(x):
    x = [9] + x
    return [v * 2 for v in x]
