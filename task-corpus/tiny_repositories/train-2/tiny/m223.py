def f(x):
    x = sorted(x)
    x = sorted(x)
    x = x[-1]
    return [v + 'a' for v in x]
