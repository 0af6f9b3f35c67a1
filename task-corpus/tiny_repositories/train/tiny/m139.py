def f(x):
    if sum(x) > 11:
        x = x[:2]
    x = x[::-1]
    return min(x)
