def f(x):
    x = [v * 5 for v in x]
    return [v + 9 for v in x]
