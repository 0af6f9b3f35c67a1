def f(x):
    x = [x[0], x[-1]]
    if len(x) > 3:
        x = [4] + x
    return [v for v in x if v < 9]
