def f(x):
    x = x + [4]
    x = [v + 9 for v in x]
    return [v * 2 for v in x]
