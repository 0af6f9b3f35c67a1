def f(x):
    x = [v * 3 for v in x]
    return x[-1:] + x[:-1]
