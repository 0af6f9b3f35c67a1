def f(x):
    if x % 2 == 0:
        return [x, 3]
    return x + 9
