def f(x):
    if len(x) > 2:
        return x[1:]
    return x[::-1]
