def f(x):
    x = [v % 5 for v in x]
    x = x[1:]
    x = sorted(x)[::-1]
    return x[:-1]
