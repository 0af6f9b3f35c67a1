def f(x):
    x = [v * 4 for v in x]
    return x[-1]
