def f(x):
    if x > 7:
        return x + 5
    x = x * 4 + 6
    return 'a' * (x % 5)
