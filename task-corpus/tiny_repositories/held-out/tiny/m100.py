def f(x):
    x = [v * 5 for v in x]
    x = x[-1]
    return [x, x + 2]
