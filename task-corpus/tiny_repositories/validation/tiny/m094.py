def f(x):
    if x > 7:
        return [3, x]
    x = x + 4
    x = x % 9
    return x - 5
