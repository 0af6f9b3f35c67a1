def f(x):
    x = sum(x)
    if x > 5:
        return x - 4
    return x * 4
