def f(x):
    if len(x) > 2:
        return x[::2]
    if 7 in x:
        return max(x)
    x = x[0]
    return [x, 6]
