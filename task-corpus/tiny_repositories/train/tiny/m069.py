def f(x):
    if x % 2 == 0:
        return x * 4 + 8
    x = x * 9
    return x + 2
