def f(x):
    x = [x, 0]
    if x[0] > 6:
        return x[0] + x[-1]
    return [v + 5 for v in x]
