def f(x):
    if x > 9:
        return 'b' * (x % 5)
    if x > 4:
        x = x % 3
    return x - 3
