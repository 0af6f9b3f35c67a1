def f(x):
    x = [x] * 4
    x = sorted(x)[::-1]
    return [v * 6 for v in x]
