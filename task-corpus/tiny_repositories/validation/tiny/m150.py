def f(x):
    x = [v % 4 for v in x]
    if len(x) > 2:
        x = sorted(x)[::-1]
    x = x[1:] + x[:1]
    return [2] + x
