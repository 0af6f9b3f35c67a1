def f(x):
    x = [v + 2 for v in x]
    return [v * 3 for v in x]
