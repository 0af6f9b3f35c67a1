def f(x):
    if x > 7:
        x = x % 9
    x = 4 - x
    return list(range(x % 7))
