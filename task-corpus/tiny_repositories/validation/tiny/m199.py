def f(x):
    x = sum(x)
    if x > 7:
        return x * 4
    return x * 5
