def f(x):
    x = x[:2]
    if len(x) > 2:
        x = x * 2
    return list(x)
