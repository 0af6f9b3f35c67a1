def f(x):
    if len(x) > 3:
        return x[1:] + x[:1]
    x = sum(x)
    return x * x
