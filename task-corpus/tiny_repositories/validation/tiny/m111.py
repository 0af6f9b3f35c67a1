def f(x):
    x = [v % 3 for v in x]
    return [v * 4 for v in x]
