def f(x):
    if sum(x) > 9:
        return x[0]
    x = x[-1:] + x[:-1]
    return [v + 7 for v in x]
