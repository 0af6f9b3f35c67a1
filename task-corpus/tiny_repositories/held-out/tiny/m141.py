def f(x):
    x = x[:-1]
    x = min(x)
    if x % 2 == 0:
        return x * 8
    return x * 5
