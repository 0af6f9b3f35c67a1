def f(x):
    if len(x) > 3:
        return x[::-1]
    return [v for v in x if v < 5]
