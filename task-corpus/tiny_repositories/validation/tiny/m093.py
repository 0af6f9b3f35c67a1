def f(x):
    x = [v for v in x if v > 4]
    x = [v for v in x if v != 1]
    if sum(x) > 14:
        x = x[::-1]
    return sum(x) % 9
